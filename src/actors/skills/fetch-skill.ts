import { boundedBody } from '#outgoing/bounded-body.ts'
import { RedirectFailed, type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxSkillArchive } from '#specs/resources/skills.ts'

const timeoutMs = 15_000
const maxRedirects = 5

/**
 * Fetches a URL through the SSRF guard.
 *
 * @throws {ServiceError} `invalid_field` for a URL that may not be fetched, `fetch_failed`
 */
export const fetchSkill = async (guard: Pick<SsrfGuard, 'request'>, url: string): Promise<Buffer> => {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await guard.request(url, {
      kind: 'skill',
      method: 'GET',
      headers: { accept: '*/*' },
      signal,
      maxRedirects,
    })
    if (answer.statusCode !== 200) {
      answer.body.destroy()
      throw failed(`The URL responded with status ${answer.statusCode}.`)
    }
    const { bytes, isCut } = await boundedBody(answer.body, { maxBytes: maxSkillArchive })
    if (isCut) throw failed(`The address has more than ${maxSkillArchive} bytes.`)
    return bytes
  } catch (error) {
    if (error instanceof ServiceError) throw error
    if (error instanceof SsrfRefused || error instanceof RedirectFailed) {
      throw new ServiceError('invalid_field', {
        param: 'url',
        message: `The URL is refused: ${error.message}.`,
        cause: error,
      })
    }
    throw failed(signal.aborted ? 'The URL did not respond in time.' : 'The URL cannot be reached.', error)
  }
}

const failed = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('fetch_failed', { param: 'url', message, ...(cause !== undefined && { cause }) })
