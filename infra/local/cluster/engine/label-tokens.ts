/** A piece of a label selector's text; `end` has the empty text. */
export interface LabelToken {
  readonly kind: "word" | "symbol" | "end";
  readonly text: string;
}

const SPECIAL = /[=!(),<>]/;
const SYMBOLS: ReadonlySet<string> = new Set(["=", "==", "!", "!=", "(", ")", ",", "<", ">"]);

/** Takes a label selector apart. A symbol is as long as it can be: `a==b` has three pieces. */
function labelTokens(text: string): readonly LabelToken[] {
  const tokens: LabelToken[] = [];
  let at = 0;
  while (at < text.length) {
    const first = text.charAt(at);
    if (/\s/.test(first)) {
      at += 1;
      continue;
    }
    let end = at + 1;
    const isSymbol = SPECIAL.test(first);
    const goesOn = (): boolean =>
      isSymbol ? SYMBOLS.has(text.slice(at, end + 1)) : !/[\s=!(),<>]/.test(text.charAt(end));
    while (end < text.length && goesOn()) end += 1;
    tokens.push({ kind: isSymbol ? "symbol" : "word", text: text.slice(at, end) });
    at = end;
  }
  return [...tokens, { kind: "end", text: "" }];
}

/** Reads tokens one after the other; after the last one comes `end` for ever. */
export class LabelTokenReader {
  readonly #tokens: readonly LabelToken[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = labelTokens(text);
  }

  peek(): LabelToken {
    return this.#tokens[this.#at] ?? { kind: "end", text: "" };
  }

  take(): LabelToken {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  /** Whether the next token is this symbol. */
  isAt(symbol: string): boolean {
    const { kind, text } = this.peek();
    return kind === "symbol" && text === symbol;
  }

  /** Whether a requirement may end here. */
  isAtEnd(): boolean {
    return this.peek().kind === "end" || this.isAt(",");
  }
}
