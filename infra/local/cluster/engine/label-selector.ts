import { arrayIn, isJsonObject, type JsonObject, objectsIn, textIn, textsIn } from "./json.ts";

/** Whether labels fit a LabelSelector object (`matchLabels`, `matchExpressions`); an absent or empty one fits all. */
export function selectorMatches(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (!isJsonObject(selector)) return true;
  const wanted = Object.entries(textsIn(selector, "matchLabels"));
  return (
    wanted.every(([key, value]) => labels[key] === value) &&
    objectsIn(selector, "matchExpressions").every((expression) => expressionMatches(expression, labels))
  );
}

function expressionMatches(expression: JsonObject, labels: Readonly<Record<string, string>>): boolean {
  const key = textIn(expression, "key");
  const value = labels[key];
  const values = arrayIn(expression, "values");
  switch (textIn(expression, "operator")) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
