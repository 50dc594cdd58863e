import "reflect-metadata";
import type { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";
import type { Clock } from "../../../lib/base/clock.ts";
import { ALGORITHM, serial, signClientRequest } from "./certificate-requests.ts";

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

/** A certificate and its private key (PKCS 8), both as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** How long a certificate is valid. */
export interface Validity {
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** Whom a client certificate speaks for: `CN` is the user, each `O` a group. */
export interface ClientSubject {
  readonly user: string;
  readonly groups?: readonly string[];
}

/** A certificate authority of one cluster. */
export interface CertificateAuthority {
  readonly caPem: string;
  /** The authority's private key (PKCS 8, PEM), for a signer outside this process. */
  readonly caKeyPem: string;
  /** A server certificate for DNS names and IP addresses; as long-lived as the authority's own unless told otherwise. */
  issueServer(names: readonly string[], validity?: Validity): Promise<KeyPair>;
  /** A client certificate, by default from an hour ago for a year; one that is over (`notAfter` in the past) for the asking. */
  issueClient(subject: ClientSubject, validity?: Validity): Promise<KeyPair>;
  /** A client certificate for a PKCS #10 request (PEM), as PEM. @throws when it cannot be read or its signature is not its key's */
  signClientRequest(request: string, validity: Required<Validity>): Promise<string>;
}

/**
 * Makes a new authority. Its own certificate is valid for twenty years before and after now: clients judge it by their
 * clock, which may be far from the cluster's.
 */
export async function createCertificateAuthority(name: string, clock: Clock): Promise<CertificateAuthority> {
  const keys = await generateKeys();
  const now = clock.now().getTime();
  const lasting = { notBefore: new Date(now - 20 * YEAR_MS), notAfter: new Date(now + 20 * YEAR_MS) };
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: distinguishedName(name),
    notBefore: lasting.notBefore,
    notAfter: lasting.notAfter,
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });

  const issue = async (subject: Subject, validity: Validity = {}): Promise<KeyPair> => {
    const own = await generateKeys();
    const at = clock.now().getTime();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serial(),
      subject: subject.name,
      issuer: ca.subject,
      notBefore:
        validity.notBefore ?? new Date(Math.min(at - 3_600_000, (validity.notAfter?.getTime() ?? at) - DAY_MS)),
      notAfter: validity.notAfter ?? new Date(at + YEAR_MS),
      signingAlgorithm: ALGORITHM,
      publicKey: own.publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([subject.usage]),
        await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
        ...subject.extensions,
      ],
    });
    return { cert: certificate.toString("pem"), key: await privateKeyPem(own.privateKey) };
  };

  return {
    signClientRequest: (request, validity) => signClientRequest({ ca, keys }, request, validity),
    caPem: ca.toString("pem"),
    caKeyPem: await privateKeyPem(keys.privateKey),
    issueServer: (names, validity) => issue(serverSubject(names), { ...lasting, ...validity }),
    issueClient: (subject, validity) => issue(clientSubject(subject), validity),
  };
}

interface Subject {
  readonly name: string;
  readonly usage: x509.ExtendedKeyUsageType;
  readonly extensions: readonly x509.Extension[];
}

function serverSubject(names: readonly string[]): Subject {
  const alternatives = names.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value }));
  return {
    name: distinguishedName("kube-apiserver"),
    usage: x509.ExtendedKeyUsage.serverAuth,
    extensions: [new x509.SubjectAlternativeNameExtension(alternatives)],
  };
}

function clientSubject(subject: ClientSubject): Subject {
  return {
    name: distinguishedName(subject.user, subject.groups),
    usage: x509.ExtendedKeyUsage.clientAuth,
    extensions: [],
  };
}

function distinguishedName(commonName: string, organizations: readonly string[] = []): string {
  const parts = [...organizations.map((o) => ({ O: [o] })), { CN: [commonName] }];
  return new x509.Name(parts).toString();
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY");
}
