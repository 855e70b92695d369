import { createHmac } from 'node:crypto'

/**
 * Headers of the Standard Webhooks scheme for one message, signed with each of the secrets: while a secret is being
 * replaced, a receiver that has either one accepts it.
 *
 * @param secrets base64, with or without the prefix `whsec_`.
 * @param timestampS seconds since the epoch.
 */
export function webhookHeaders(
  secrets: string | readonly string[],
  { id, timestampS, body }: { readonly id: string; readonly timestampS: number; readonly body: string },
): { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string } {
  const signed = `${id}.${timestampS}.${body}`
  const signatures = [secrets].flat().map((secret) => `v1,${signature(secret, signed)}`)
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampS), 'webhook-signature': signatures.join(' ') }
}

const signature = (secret: string, text: string): string =>
  createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(text)
    .digest('base64')
