import { test } from "node:test";
import { tableContract } from "./table-contract.ts";

/** Where Amazon's DynamoDB Local listens; CI sets it. */
const url = process.env["DYNAMODB_LOCAL_URL"];

if (url === undefined) test("DynamoDB: Amazon's DynamoDB Local", { skip: "DYNAMODB_LOCAL_URL is not set" });
else tableContract("Amazon's DynamoDB Local", async () => ({ url, stop: async () => {} }));
