import { duplicate, type FieldError, fieldForbidden, invalid, notSupported, required } from "../../field-error.ts";
import { type JsonObject, textIn } from "../json.ts";
import { labelProblems, qualifiedNameProblems } from "../names.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/**
 * Complaints about a Service's ports.
 * @param closed the type of a Service that has no ports on the nodes; undefined for one that has
 */
export function validatePorts(ports: readonly JsonObject[], closed: string | undefined): readonly FieldError[] {
  const names = new Set<string>();
  const each = ports.flatMap((port, i) => {
    const path = `spec.ports[${i}]`;
    const name = textIn(port, "name");
    const errors = [...validateName(name, path, ports.length > 1)];
    if (name !== "" && names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    errors.push(...validatePortNumber(port["port"] ?? 0, `${path}.port`));
    const protocol = textIn(port, "protocol");
    if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
    errors.push(...validateTarget(port["targetPort"], `${path}.targetPort`));
    errors.push(...validateAppProtocol(port, path));
    if (closed !== undefined && Number(port["nodePort"] ?? 0) !== 0) {
      errors.push(fieldForbidden(`${path}.nodePort`, `may not be used when \`type\` is '${closed}'`));
    }
    return errors;
  });
  return [...each, ...validateDuplicates(ports)];
}

/** Complaints about a port's number. */
export function validatePortNumber(value: unknown, path: string): readonly FieldError[] {
  const good = typeof value === "number" && value >= 1 && value <= 65_535;
  return good ? [] : [invalid(path, value, "must be between 1 and 65535, inclusive")];
}

/** Complaints about a port's application protocol, if it has one. */
export function validateAppProtocol(port: JsonObject, path: string): readonly FieldError[] {
  const protocol = textIn(port, "appProtocol");
  if (protocol === "") return [];
  return qualifiedNameProblems(protocol).map((p) => invalid(`${path}.appProtocol`, protocol, p));
}

function validateName(name: string, path: string, needed: boolean): readonly FieldError[] {
  if (name === "") return needed ? [required(`${path}.name`)] : [];
  return labelProblems(name).map((p) => invalid(`${path}.name`, name, p));
}

/** A target is a number, or the name of a container's port. */
function validateTarget(target: unknown, path: string): readonly FieldError[] {
  if (typeof target === "number") return validatePortNumber(target, path);
  if (typeof target !== "string") return [];
  const problems: string[] = [];
  if (target.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(target))
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/i.test(target)) problems.push("must contain at least one letter (a-z)");
  if (target.includes("--")) problems.push("must not contain consecutive hyphens");
  if (/^-|-$/.test(target)) problems.push("must not begin or end with a hyphen");
  return problems.map((problem) => invalid(path, target, problem));
}

function validateDuplicates(ports: readonly JsonObject[]): readonly FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap((port, i) => {
    const key = `${textIn(port, "protocol")}/${String(port["port"])}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    const [protocol, number] = [JSON.stringify(port["protocol"]), JSON.stringify(port["port"])];
    // In the order of the fields in Go.
    const shown = `{"Name":"","Protocol":${protocol},"AppProtocol":null,"Port":${number},"TargetPort":0,"NodePort":0}`;
    const body = `Duplicate value: ${shown}`;
    return [{ type: "FieldValueDuplicate", field: `spec.ports[${i}]`, body } as const];
  });
}
