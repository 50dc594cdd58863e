/** A function as it is deployed. */
export interface FunctionDefinition {
  readonly name: string;
  /** The folder that stands for the unpacked deployment package. */
  readonly taskRoot: string;
  /** `FILE.EXPORT`, relative to the package and without an ending: `dist/announce.handler`. */
  readonly handler: string;
  /** How long an invocation may take, in seconds; a fraction is allowed here, for tests. */
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** The function's own variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** How many invocations may run at once; absent: no limit. */
  readonly reservedConcurrency?: number;
  /** Of asynchronous invocations: 0 to 2, by default 2. */
  readonly maximumRetryAttempts?: number;
  /** Of asynchronous invocations, in seconds: by default 6 hours. */
  readonly maximumEventAgeSeconds?: number;
}

/** What may change with a deployment. */
export type FunctionChange = Partial<Omit<FunctionDefinition, "name">>;

/** One call of a function. */
export interface Invocation {
  readonly requestId: string;
  readonly functionArn: string;
  /** JSON text. */
  readonly payload: string;
  readonly traceId: string;
  /** JSON text. */
  readonly clientContext?: string;
}

/** What came of it. */
export interface InvocationResult {
  /** JSON text: the handler's result or the error's description. */
  readonly payload: string;
  /** Set when the function failed, whether it reported that itself or not. */
  readonly functionError?: "Unhandled";
  /** The last 4 KB of the log. */
  readonly logTail: string;
}

/** A function that failed, in the form in which Lambda describes it. */
export function failureOf(
  errorType: string,
  errorMessage: string,
): Pick<InvocationResult, "payload" | "functionError"> {
  return { payload: JSON.stringify({ errorType, errorMessage }), functionError: "Unhandled" };
}
