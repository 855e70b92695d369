import { createHmac } from 'node:crypto'

/**
 * The headers of the Standard Webhooks scheme for one message.
 *
 * @param secret `whsec_` and base64, or base64 alone.
 * @param timestampS seconds since the epoch.
 */
export function webhookHeaders(
  secret: string,
  id: string,
  timestampS: number,
  body: string,
): { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string } {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestampS}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestampS), 'webhook-signature': `v1,${signature}` }
}
