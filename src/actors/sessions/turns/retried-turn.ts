import { isObject } from '#runtime/index.ts'
import type { Host, Resident } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { rangeOfTurn } from '../event-pages.ts'
import type { TurnInput } from '../input/turn-media.ts'

/** The fields of a turn request that say what the turn begins with. */
interface TurnStart {
  readonly input?: unknown
  readonly tool_results?: readonly unknown[] | undefined
  readonly retry_of?: number | undefined
}

/** @throws {ServiceError} `missing_field` for a turn that begins with nothing, `invalid_field` for a retry with an input. */
export const checkTurnStart = ({ input, tool_results, retry_of }: TurnStart): void => {
  if (input === undefined && (tool_results ?? []).length === 0 && retry_of === undefined)
    throw new ServiceError('missing_field', {
      param: 'input',
      message: 'A turn requires input, tool_results or retry_of.',
    })
  if (retry_of !== undefined && (input !== undefined || tool_results !== undefined))
    throw invalidField(
      'retry_of',
      'A retry has the input of the turn that failed: send neither input nor tool_results.',
    )
}

/**
 * Returns the input of a failed turn, its images by reference. Whether it is the latest is decided by the session itself.
 *
 * @throws {ServiceError} `not_found` for a turn that the log does not have; `invalid_transition` for one that has not
 * failed.
 */
export const failedInput = async (host: Host, session: Resident, turn: number): Promise<TurnInput> => {
  const { first, last } = await rangeOfTurn(host, session, turn)
  const [[started], [ended]] = await Promise.all([
    host.readPage(session, first - 1, 1),
    host.readPage(session, Math.max(first, last) - 1, 1),
  ])
  if (started?.turn_number !== turn || started.event_type !== 'turn.started')
    throw new ServiceError('not_found', { param: 'retry_of', message: 'The session has no such turn.' })
  if (ended?.event_type !== 'turn.failed')
    throw new ServiceError('invalid_transition', {
      param: 'retry_of',
      message: 'The turn has not failed. Only a failed one can be retried; start another turn.',
    })
  const { input_text: text, input: parts } = started.payload
  return { input: typeof text === 'string' ? text : '', ...(Array.isArray(parts) && { parts: parts.filter(isObject) }) }
}
