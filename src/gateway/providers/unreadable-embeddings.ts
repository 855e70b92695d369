import { type AttemptFailed, refused } from '../call/failure.ts'
import { ModelError } from '../call/provider-port.ts'

/** Failure for a response that does not have a vector for each input. */
export const unreadableEmbeddings = (): AttemptFailed =>
  refused(new ModelError('provider_error', 'The provider returned too few embeddings.'))
