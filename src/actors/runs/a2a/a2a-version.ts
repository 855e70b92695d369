import type { Call } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/**
 * Requires the version of A2A that is served. A request that names none is served, since generated clients send no
 * header; an empty one names 0.3, by the protocol.
 *
 * @throws {ServiceError} `bad_request`
 */
export const requireVersion = ({ a2aVersion }: Pick<Call<unknown, unknown, unknown>, 'a2aVersion'>): void => {
  if (a2aVersion === undefined || /^1\.0(?:\.\d+)?$/.test(a2aVersion.trim())) return
  throw new ServiceError('bad_request', {
    param: 'A2A-Version',
    message: 'The agent is served by A2A 1.0.',
    extra: { reason: 'VERSION_NOT_SUPPORTED' },
  })
}
