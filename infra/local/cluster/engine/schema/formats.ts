import { isIPv4, isIPv6 } from "node:net";

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const DATE_TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])t([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]\d{2}:?\d{2})$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DURATION = /^-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$|^\d+\s?[a-z]+$/i;
const HOSTNAME = /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)*[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/i;
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const MAC = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;

/**
 * The formats that a kube-apiserver checks in custom resources. Others, `int32` and `int64` among them, are ignored there,
 * and so they are here.
 */
const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  datetime: (text) => DATE_TIME.test(text),
  date: (text) => DATE.test(text),
  byte: (text) => BASE64.test(text),
  duration: (text) => DURATION.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCIDR,
  mac: (text) => MAC.test(text),
  uuid: (text) => UUID.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  uri: (text) => text.startsWith("/") || URL.canParse(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
};

/** False when the text breaks a format that the server checks. */
export function matchesFormat(format: string, text: string): boolean {
  return CHECKS[format.replaceAll("-", "")]?.(text) ?? true;
}

function isCIDR(text: string): boolean {
  const [address = "", bits = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128);
}
