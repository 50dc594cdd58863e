interface KnownFailure {
  readonly seen: RegExp;
  readonly remedy: string;
}

/** What the packaging tool and AWS say when a deployment fails for a reason that a person can remove. */
const KNOWN: readonly KnownFailure[] = [
  {
    seen: /credentials (?:not found|missing)|could not find (?:any )?credentials|missing credentials|credentials could not be loaded|could not load credentials/i,
    remedy:
      "No AWS credentials were found. Log in (`aws sso login`, then AWS_PROFILE) or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and deploy again.",
  },
  {
    seen: /profile .* (?:does not exist|could not be found|not found)/i,
    remedy:
      "AWS_PROFILE names a profile that ~/.aws/config does not have. Correct it, or log in with `aws configure sso`.",
  },
  {
    seen: /ExpiredToken|token (?:included in the request )?(?:is|has) expired|SSO session .* expired/i,
    remedy: "The AWS session has expired. Log in again (`aws sso login`) and repeat.",
  },
  {
    seen: /InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|security token included in the request is invalid/i,
    remedy: "AWS does not accept these credentials. Check AWS_PROFILE or the access key, and this machine's clock.",
  },
  {
    seen: /AccessDenied|is not authorized to perform/i,
    remedy:
      "The identity may not do this. It needs to manage CloudFormation, Lambda, IAM roles, DynamoDB, KMS, SQS, S3, CloudWatch Logs and EventBridge Scheduler.",
  },
  {
    seen: /StateTable\b[^]{0,300}already exists/i,
    remedy:
      "The stage's table is there already: it outlives its stack when that is removed or rolled back. Import it and its key into the stack in CloudFormation's console and deploy again, or deploy under another name. If nothing in it is needed, turn off its deletion protection and delete it.",
  },
  {
    seen: /is in (?:ROLLBACK_FAILED|UPDATE_ROLLBACK_FAILED|.*_IN_PROGRESS) state/i,
    remedy:
      "The stack is in a state that takes no update. See CloudFormation's console; wait, or continue the rollback there.",
  },
  {
    seen: /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|Inaccessible host/,
    remedy: "AWS cannot be reached from here. Check the network, the proxy (HTTPS_PROXY) and the region's name.",
  },
];

/** What a person can do about a failed deployment; `undefined` when the tool's own words must do. */
export function explainDeployFailure(output: string): string | undefined {
  return KNOWN.find(({ seen }) => seen.test(output))?.remedy;
}
