import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { parseJson } from '#outgoing/wire.ts'
import { LoopbackServer } from '../loopback-server.ts'

/** One request that a cloud received. */
export interface CloudRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly body: unknown
  /** Resolves with the time at which the answer's connection was closed, by `performance.now()`. */
  readonly closed: Promise<number>
}

/** The fields that a schema knows: null for any value, a list for every item, an object for its fields. */
export type Shape = null | readonly [Shape] | { readonly [field: string]: Shape }

/** A request that the published schema does not allow, or that is not authorised. */
export class CloudRefusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Returns the places of fields that the shape does not know. */
const foreignFields = (value: unknown, shape: Shape, at = ''): readonly string[] => {
  if (shape === null || value === null || typeof value !== 'object') return []
  if (isList(shape))
    return Array.isArray(value) ? value.flatMap((item) => foreignFields(item, shape[0], `${at}[]`)) : []
  return Object.entries(value).flatMap(([field, inner]) => {
    const known = shape[field]
    return known === undefined ? [`${at}.${field}`] : foreignFields(inner, known, `${at}.${field}`)
  })
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape)

/** A cloud on loopback that refuses whatever its published schema does not have. */
export abstract class CloudServer extends LoopbackServer {
  readonly received: CloudRequest[] = []
  /** What was refused although no test wants it to be. */
  readonly problems: string[] = []
  tokensIssued = 0

  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<number>((resolve) => response.once('close', () => resolve(performance.now())))
    const bytes = await buffer(request)
    const url = new URL(request.url ?? '', this.url(''))
    const { method = '', headers } = request
    const one = { method, url, headers, bytes, body: parseJson(bytes.toString()), closed }
    this.received.push(one)
    try {
      await this.serve(one, response)
    } catch (error) {
      if (!(error instanceof CloudRefusal)) throw error
      if (error.status === 400) this.problems.push(error.message)
      this.refuse(response, error.status, error.message)
    }
  }

  /** @throws {CloudRefusal} */
  protected abstract serve(request: CloudRequest, response: ServerResponse): unknown

  /** Answers an error in the cloud's own form. */
  protected abstract refuse(response: ServerResponse, status: number, message: string): void

  /** @throws {CloudRefusal} for a body with fields that the schema does not have. */
  protected known(body: unknown, shape: Shape): void {
    const [foreign] = foreignFields(body, shape)
    if (foreign !== undefined) throw new CloudRefusal(400, `Unrecognized request argument supplied: ${foreign}`)
  }

  protected json(response: ServerResponse, document: unknown, status = 200, headers = {}): ServerResponse {
    return response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(document))
  }
}

/** The text of whole answers. */
export const answerText = 'Hello wörld 🌍'

/** A picture of eight bytes. */
export const picture = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')
