const BLOCK = /(?:^|\n)-----BEGIN (?<type>[^\n-]+)-----\r?\n[^]*?\r?\n-----END \k<type>-----[ \t\r]*(?=\n|$)/g;

/** The types of the blocks in a PEM text, in order; what is between them counts for nothing. */
export function pemTypes(text: string): readonly string[] {
  return [...text.matchAll(BLOCK)].map((block) => block.groups?.["type"] ?? "");
}
