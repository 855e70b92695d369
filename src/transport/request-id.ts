import { newId } from '../actors/runtime/index.ts'
import type { BodyWriter, Headers, HttpResponse } from './http/http-port.ts'

const acceptable = /^[A-Za-z0-9_-]{8,128}$/

/** The id of a request: the caller's own (`X-Request-Id`) if it is safe to log and echo, otherwise a new one. */
export const requestId = (given: string | undefined): string =>
  given !== undefined && acceptable.test(given) ? given : newId('req')

/** A response whose head names its request, whatever answers it. */
export class NamedResponse implements HttpResponse {
  readonly #response: HttpResponse
  readonly #id: string

  constructor(response: HttpResponse, id: string) {
    this.#response = response
    this.#id = id
  }

  get begun(): boolean {
    return this.#response.begun
  }

  get closed(): boolean {
    return this.#response.closed
  }

  send(status: number, headers: Headers, body: string | Uint8Array): void {
    this.#response.send(status, this.#named(headers), body)
  }

  stream(status: number, headers: Headers): BodyWriter {
    return this.#response.stream(status, this.#named(headers))
  }

  fail(): void {
    this.#response.fail()
  }

  onClose(listener: () => void): void {
    this.#response.onClose(listener)
  }

  onOver(listener: () => void): void {
    this.#response.onOver(listener)
  }

  #named(headers: Headers): Headers {
    return [...headers, ['x-request-id', this.#id]]
  }
}
