import type { EnvelopeName, Operation } from '#specs/dsl/declare.ts'
import { codeIn, codesOf, statusIn } from '#specs/errors/wire-errors.ts'
import { envelopeTitles } from './openapi-envelopes.ts'

/** The error responses of a document: each status of an envelope is one component, to which operations refer. */
export class ErrorResponses {
  readonly #codes = new Map<
    string,
    { readonly envelope: EnvelopeName; readonly status: number; readonly codes: Set<string> }
  >()

  /** Returns the error responses of one operation, by status; each reference names the codes of this operation. */
  of(operation: Operation): object {
    const { envelope } = operation
    const byStatus = new Map<number, Set<string>>()
    for (const code of codesOf(operation)) {
      const status = statusIn(envelope, code)
      byStatus.set(status, (byStatus.get(status) ?? new Set()).add(codeIn(envelope, code)))
    }
    return Object.fromEntries(
      Array.from(byStatus, ([status, codes]) => [status, this.#reference(envelope, status, codes)]),
    )
  }

  /** Returns every component that an operation refers to, sorted by name. */
  all(): object {
    const responses = Array.from(this.#codes, ([name, { envelope, status, codes }]) => ({
      name,
      response: { description: codeList([...codes].sort()), ...headersOf(status), ...contentOf(envelope) },
    }))
    responses.sort((left, right) => (left.name < right.name ? -1 : 1))
    return Object.fromEntries(responses.map(({ name, response }) => [name, response]))
  }

  #reference(envelope: EnvelopeName, status: number, codes: ReadonlySet<string>): object {
    const name = `${envelopeTitles[envelope]}${status}`
    const shared = this.#codes.get(name) ?? { envelope, status, codes: new Set() }
    for (const code of codes) shared.codes.add(code)
    this.#codes.set(name, shared)
    return { $ref: `#/components/responses/${name}`, description: codeList([...codes]) }
  }
}

const codeList = (codes: readonly string[]): string => codes.map((code) => `\`${code}\``).join(', ')

const contentOf = (envelope: EnvelopeName) => ({
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${envelopeTitles[envelope]}` } } },
})

const headersOf = (status: number): object =>
  status === 429 || status === 503
    ? {
        headers: {
          'Retry-After': { description: 'Seconds to wait before the next request.', schema: { type: 'integer' } },
        },
      }
    : {}
