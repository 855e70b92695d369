import { boundedBody } from '#outgoing/bounded-body.ts'
import { RedirectFailed, type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { maxImportedTools, maxOpenApiLength } from '#specs/resources/connections/connections.ts'
import { openOpenApiParser } from '#src/parsing/openapi/openapi-parser.ts'
import { ParserFailed } from '#src/parsing/parser-pool.ts'
import type { ConnectionToolsData } from '../kinds.ts'
import type { ReadOpenApi } from './connection-tools.ts'
import { importedTools } from './imported-tools.ts'

const timeoutMs = 15_000
const maxRedirects = 5
/** Maximum length in characters of the JSON that a connection stores of a document. */
const maxKept = 1_000_000

/** Returns a reader of OpenAPI documents. It fetches URLs through the SSRF guard, and parses in a worker. */
export const openApiReader = (
  guard: Pick<SsrfGuard, 'request'>,
): { readonly read: ReadOpenApi; readonly close: () => Promise<void> } => {
  const parser = openOpenApiParser()
  return {
    read: async ({ url, document }) => {
      const text = document ?? (await fetched(guard, url ?? ''))
      const param = document === undefined ? 'config.openapi.url' : 'config.openapi.document'
      return kept(
        await parsed(() => parser.parse('openapi', { text, maxTools: maxImportedTools, maxLength: maxKept }), param),
        param,
      )
    },
    close: () => parser.close(),
  }
}

const parsed = async (parse: () => Promise<unknown>, param: string): Promise<unknown> => {
  try {
    return await parse()
  } catch (error) {
    if (!(error instanceof ParserFailed)) throw error
    const message =
      error.reason === 'unreadable' ? error.message : 'Reading the document exceeded the time or memory limit.'
    throw new ServiceError('invalid_field', { param, message, cause: error })
  }
}

const kept = (read: unknown, param: string): ConnectionToolsData => {
  const data = importedTools(read)
  if (data === null) throw invalidField(param, 'The document is not a valid OpenAPI document.')
  return data
}

const fetched = async (guard: Pick<SsrfGuard, 'request'>, url: string): Promise<string> => {
  const param = 'config.openapi.url'
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const headers = { accept: 'application/json, application/yaml;q=0.9, */*;q=0.5' }
    const answer = await guard.request(url, { kind: 'openapi', method: 'GET', headers, signal, maxRedirects })
    const { bytes, isCut } = await boundedBody(answer.body, { maxBytes: 4 * maxOpenApiLength })
    if (answer.statusCode !== 200)
      throw new ServiceError('fetch_failed', {
        param,
        message: `The URL responded with status ${answer.statusCode}.`,
      })
    const text = bytes.toString()
    if (isCut || text.length > maxOpenApiLength)
      throw new ServiceError('fetch_failed', { param, message: 'The document is too long.' })
    return text
  } catch (error) {
    if (error instanceof ServiceError) throw error
    if (error instanceof SsrfRefused || error instanceof RedirectFailed)
      throw new ServiceError('invalid_field', {
        param,
        message: `The URL is refused: ${error.message}.`,
        cause: error,
      })
    throw new ServiceError('fetch_failed', { param, message: 'The URL cannot be reached.', cause: error })
  }
}
