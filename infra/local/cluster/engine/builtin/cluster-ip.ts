import { isIPv4 } from "node:net";

/** A range of IPv4 addresses for Services. */
export interface AddressRange {
  readonly text: string;
  /** First address that may be given out. */
  readonly first: number;
  /** Last address that may be given out. */
  readonly last: number;
}

/** Reads an IPv4 range. @throws when the text is none: a mistake of who starts the cluster */
export function parseRange(text: string): AddressRange {
  const [address = "", bits = ""] = text.split("/");
  const length = Number(bits);
  if (!isIPv4(address) || !/^\d+$/.test(bits) || length > 30) throw new Error(`${text} is no IPv4 range for Services`);
  const size = 2 ** (32 - length);
  const base = Math.floor(toNumber(address) / size) * size;
  // The first address is that of the Service `kubernetes`, the last one is the broadcast address.
  return { text, first: base + 1, last: base + size - 2 };
}

/** An address of the range that is not taken; undefined when the range is full. Starts to look after `after`. */
export function nextFree(range: AddressRange, taken: ReadonlySet<string>, after: number): string | undefined {
  const size = range.last - range.first + 1;
  for (let i = 0; i < size; i += 1) {
    const candidate = toText(range.first + ((after - range.first + 1 + i + size) % size));
    if (!taken.has(candidate)) return candidate;
  }
  return undefined;
}

/** True when the address may be given out from the range. */
export function isInRange(range: AddressRange, address: string): boolean {
  if (!isIPv4(address)) return false;
  const value = toNumber(address);
  return value >= range.first && value <= range.last;
}

/** An IPv4 address as a number. */
export function toNumber(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function toText(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}
