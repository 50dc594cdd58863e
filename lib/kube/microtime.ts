/**
 * Writes a Kubernetes MicroTime: UTC with exactly six decimals, as the API server's strict parser wants it
 * (`metav1.RFC3339Micro`). JavaScript's three decimals are refused by a Lease.
 */
export function microTime(at: Date): string {
  return `${at.toISOString().slice(0, -1)}000Z`;
}
