import { InMemoryBatonStore } from "../support/in-memory-baton-store.ts";
import { batonStoreContract } from "./baton-store.ts";

batonStoreContract("in memory", () => new InMemoryBatonStore());
