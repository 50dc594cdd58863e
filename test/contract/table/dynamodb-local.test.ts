import { tableContract } from "./table-contract.ts";

/** Where Amazon's DynamoDB Local listens; CI sets it. */
const url = process.env["DYNAMODB_LOCAL_URL"];

if (url !== undefined) tableContract("Amazon's DynamoDB Local", async () => ({ url, stop: async () => {} }));
