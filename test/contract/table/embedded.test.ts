import { startTable } from "../../../infra/local/table/table.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { tableContract } from "./table-contract.ts";

tableContract("embedded", async () => await startTable({ clock: systemClock }));
