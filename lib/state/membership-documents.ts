import { type Document, isMap, isScalar, LineCounter, type Node, parseAllDocuments } from "yaml";
import { failed, ok, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { MembershipSpec } from "./membership.ts";
import { parseMembershipDocument } from "./membership-document.ts";

/** Longest text that is looked at, in characters. A membership takes a few hundred. */
const MAX_LENGTH = 4 * 1024 * 1024;

/**
 * Reads a YAML text of one or more membership documents, divided by `---`; empty documents are passed over. All errors
 * of all documents are given at once: paths begin with the document's number, from 0, where there are several, and
 * problems name the line. Values are never repeated.
 */
export function parseMembershipDocuments(yamlText: string): Result<readonly MembershipSpec[], readonly UserError[]> {
  if (yamlText.length > MAX_LENGTH) {
    return failed([{ path: "", problem: "the file is far longer than memberships can be", remedy: "Divide it." }]);
  }
  const lines = new LineCounter();
  const parsed = parseAllDocuments(yamlText, { lineCounter: lines, prettyErrors: false, logLevel: "silent" });
  const documents = [...parsed].filter((document) => !isEmpty(document));
  if (documents.length === 0) {
    return failed([
      { path: "", problem: "there is no membership", remedy: "Begin with `cluster: NAME` and `protocol: antrea`." },
    ]);
  }
  const specs: MembershipSpec[] = [];
  const errors: UserError[] = [];
  const seen = new Set<string>();
  for (const [index, document] of documents.entries()) {
    const prefix = documents.length > 1 ? `[${index}]` : "";
    const read = readDocument(document, lines);
    if (!read.ok) {
      errors.push(...read.error.map((error) => ({ ...error, path: joined(prefix, error.path) })));
      continue;
    }
    const { cluster, protocol } = read.value;
    const remedy = "Give each cluster a name of its own, or leave one of them out.";
    const twice = seen.has(`${cluster}/${protocol}`);
    if (twice) errors.push({ path: joined(prefix, "cluster"), problem: "is the same as in a document above", remedy });
    seen.add(`${cluster}/${protocol}`);
    specs.push(read.value);
  }
  return errors.length > 0 ? failed(errors) : ok(specs);
}

function isEmpty({ contents, errors }: Document.Parsed): boolean {
  return errors.length === 0 && (contents === null || (isScalar(contents) && contents.value === null));
}

function readDocument(document: Document.Parsed, lines: LineCounter): Result<MembershipSpec, readonly UserError[]> {
  if (document.errors.length > 0) {
    return failed(
      document.errors.map(({ message, pos }) => ({
        path: "",
        // What follows a colon or a quote may be a piece of the text.
        problem: `is not valid YAML: ${message.split(/[:"'`]/)[0]?.trim() ?? ""} (line ${lines.linePos(pos[0]).line})`,
        remedy: "Correct the line; values with special characters need quotes.",
      })),
    );
  }
  const plain = plainValue(document);
  if (!plain.ok) return plain;
  const read = parseMembershipDocument(plain.value);
  if (read.ok) return read;
  return failed(
    read.error.map((error) => {
      const line = lineOf(document, error.path === "" ? [] : error.path.split("."), lines);
      return { ...error, problem: `${error.problem} (line ${line})` };
    }),
  );
}

function plainValue(document: Document.Parsed): Result<unknown, readonly UserError[]> {
  try {
    return ok(document.toJS({ maxAliasCount: 50 }));
  } catch (error) {
    // The library's word for an alias without its anchor, and for aliases that multiply.
    if (!(error instanceof ReferenceError)) throw error;
    return failed([
      { path: "", problem: "uses YAML aliases that lead nowhere or too far", remedy: "Write it without aliases." },
    ]);
  }
}

/** The line of the field, or of the nearest part around it that is there. */
function lineOf(document: Document.Parsed, path: readonly string[], lines: LineCounter): number {
  let node: unknown = document.contents;
  let offset = startOf(document.contents) ?? 0;
  for (const name of path) {
    if (!isMap(node)) break;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
    if (pair === undefined) break;
    offset = startOf(pair.key as Node) ?? offset;
    node = pair.value;
  }
  return lines.linePos(offset).line;
}

function startOf(node: Node | null): number | undefined {
  return node?.range?.[0];
}

function joined(prefix: string, path: string): string {
  return prefix === "" || path === "" ? `${prefix}${path}` : `${prefix}.${path}`;
}
