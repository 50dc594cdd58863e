import type { WindowEvent, WindowResult } from "../../../lib/relay/window-options.ts";

/** What a process tells of itself. */
export type Report =
  | { readonly kind: "event"; readonly process: string; readonly event: WindowEvent }
  | { readonly kind: "beat"; readonly process: string; readonly fence: number; readonly mayWrite: boolean }
  | { readonly kind: "ended"; readonly process: string; readonly result: WindowResult };
