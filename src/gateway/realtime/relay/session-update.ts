import { objectOf, type WireObject } from '#outgoing/wire.ts'
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
