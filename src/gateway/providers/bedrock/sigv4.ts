import { createHmac } from 'node:crypto'
import type { UnsignedRequest } from '#gateway/call/authorization/authorization.ts'

/** The credentials that sign, and what they sign for. */
export interface Signer {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | null
  readonly region: string
  readonly service: string
}

/**
 * Returns the headers that sign a request by AWS Signature Version 4 (AWS's reference, "Create a signed AWS API
 * request"). The body is hashed off the event loop.
 *
 * @param now ms since the epoch.
 */
export const signatureHeaders = async (
  { method, url, body }: UnsignedRequest,
  signer: Signer,
  now: number,
): Promise<Readonly<Record<string, string>>> => {
  const time = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, '')
  const scope = `${time.slice(0, 8)}/${signer.region}/${signer.service}/aws4_request`
  const token = signer.sessionToken === null ? {} : { 'x-amz-security-token': signer.sessionToken }
  const sent = { 'x-amz-date': time, ...token }
  const signed = Object.entries({ host: url.host, ...sent })
  const names = signed.map(([name]) => name).join(';')
  const lines = signed.map(([name, value]) => `${name}:${value}\n`).join('')
  const canonical = [method, pathOf(url), queryOf(url), lines, names, await sha256(body)].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope, await sha256(canonical)].join('\n')
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${signer.secretAccessKey}`)
  const signature = hmac(key, text).toString('hex')
  const credential = `Credential=${signer.accessKeyId}/${scope}`
  return { ...sent, authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}` }
}

/** Every service but S3 signs the path as it is sent, encoded once more. */
const pathOf = ({ pathname }: URL): string => pathname.split('/').map(encoded).join('/')

const queryOf = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const sha256 = async (data: string | Uint8Array): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(data))).toString('hex')
