import type { WebhookEvent } from './api/index.ts'
import { TroupeError } from './errors.ts'
import { asFields } from './schema.ts'

/** A request that a webhook got: as it is, or its headers with the body as it arrived, before anything parsed it. */
export type WebhookRequest =
  | Pick<Request, 'headers' | 'text'>
  | { readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>; readonly body: string }

/** How old a request may be. */
export interface UnwrapOptions {
  /** In seconds, in both directions, since clocks differ. Default: 300. */
  readonly toleranceS?: number
}

/**
 * Verifies that a request of a webhook was signed with its secret, a short time ago, and returns its event. While a
 * secret is being rotated, either one is good.
 *
 * @param secret `whsec_…`, as `webhooks.create` answered it
 * @throws {TroupeError} (rejects) `invalid_signature`, with what is wrong
 */
export const unwrap = async (
  request: WebhookRequest,
  secret: string,
  { toleranceS = 300 }: UnwrapOptions = {},
): Promise<WebhookEvent> => {
  const { headers } = request
  const header = (name: string): string => `${headers instanceof Headers ? headers.get(name) : headers[name]}`
  const body = 'text' in request ? await request.text() : request.body
  const timestamp = header('webhook-timestamp')
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceS))
    throw refused(
      `The webhook's timestamp is missing, or more than ${toleranceS} s away: is this server's clock right?`,
    )
  const signed = new TextEncoder().encode(`${header('webhook-id')}.${timestamp}.${body}`)
  const key = await keyOf(secret)
  // compares in constant time
  for (const [, signature = ''] of header('webhook-signature').matchAll(/v1,(\S+)/g))
    if (await crypto.subtle.verify('HMAC', key, bytesOf(signature), signed)) return asFields(JSON.parse(body))
  throw refused('The signature is not of this secret and body: pass the secret of this webhook, and the body unparsed.')
}

const keyOf = async (secret: string): Promise<Awaited<ReturnType<typeof crypto.subtle.importKey>>> => {
  const raw = bytesOf(secret.replace(/^whsec_/, ''))
  if (raw.length === 0) throw refused('Pass the secret of the webhook, which begins with whsec_.')
  return crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Bytes of base64; none if it is malformed. */
const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

const refused = (message: string): TroupeError => new TroupeError(message, { code: 'invalid_signature' })
