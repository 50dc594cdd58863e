const MICRO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}(?:Z|[+-]\d{2}:\d{2})$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00";
const LAYOUT = "2006-01-02T15:04:05Z07:00";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * What Go's decoder has against a text of a format; nothing for formats that it does not check. MicroTime takes six
 * decimals and nothing else: three, as JavaScript writes them, are refused.
 */
export function textProblem(value: string, format: string): string | undefined {
  switch (format) {
    case "micro-time":
      return MICRO_TIME.test(value) ? undefined : cannotParse(value, MICRO_LAYOUT);
    case "date-time":
      return TIME.test(value) ? undefined : cannotParse(value, LAYOUT);
    case "byte": {
      const at = value.search(/[^A-Za-z0-9+/=\r\n]/);
      return BASE64.test(value) ? undefined : `illegal base64 data at input byte ${at < 0 ? value.length : at}`;
    }
    default:
      return undefined;
  }
}

/** The text as it is stored and shown: times are in UTC, those of whole seconds without fractions. */
export function canonicalText(value: string, format: string): string {
  if ((format !== "micro-time" && format !== "date-time") || value.endsWith("Z")) {
    return format === "date-time" ? value.replace(/\.\d+Z$/, "Z") : value;
  }
  const seconds = new Date(value.replace(/\.\d+/, "")).toISOString().slice(0, 19);
  return `${seconds}${format === "micro-time" ? (/\.\d+/.exec(value)?.[0] ?? "") : ""}Z`;
}

/** Go's words about a time: what is left of the text where it stops to fit, and the part of the layout that stands there. */
function cannotParse(value: string, layout: string): string {
  const [, rest, more] = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}((?:\.\d{6})?(.*))$/.exec(value) ?? [];
  const longer = rest !== undefined && rest !== more;
  const part = rest === undefined ? "2006" : longer || layout === LAYOUT ? "Z07:00" : ".000000";
  const left = rest === undefined ? value : longer ? (more ?? "") : rest;
  const [text, form, at, wanted] = [value, layout, left, part].map((t) => JSON.stringify(t));
  return `parsing time ${text} as ${form}: cannot parse ${at} as ${wanted}`;
}
