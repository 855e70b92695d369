import type { Caller } from '#gateway/call/caller.ts'
import { objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'

/**
 * Returns an update of the session for the provider, where the model has another name. The model of a session is that of
 * its route, which determines who pays and what.
 *
 * @throws {ServiceError} `invalid_field` for another model
 */
export const withoutModel = (event: WireObject, model: string): string => {
  const { model: named, ...session } = objectOf(event.session)
  if (named !== undefined && named !== model) throw invalidField('session.model', 'The model of a session is fixed.')
  return JSON.stringify({ ...event, session })
}

/** Name of the model that transcribes the input of a session; '' for none. */
export const transcriberOf = ({ audio }: WireObject): string =>
  textOf(objectOf(objectOf(objectOf(audio).input).transcription).model)

/** Refuses a model for transcripts that the credential does not reach. @throws {ServiceError} `insufficient_scope` */
export const requireTranscriber = (session: WireObject, { models }: Pick<Caller, 'models'>): void => {
  const transcriber = transcriberOf(session)
  if (models === null || transcriber === '' || models.has(transcriber)) return
  const param = 'session.audio.input.transcription.model'
  const message = `The credential does not reach the model ${transcriber}. Name one that it does.`
  throw new ServiceError('insufficient_scope', { param, message })
}
