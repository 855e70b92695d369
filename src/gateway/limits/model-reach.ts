import { ServiceError } from '#specs/errors/errors.ts'
import type { Admission } from '../call/admission.ts'

/**
 * Refuses calls with a model that the caller's credential does not reach, whether the model comes from the body, a default of
 * the API, or a fallback. The bodies' own fields are checked before (`checkModels`), with their path.
 */
export const withModelReach = (admission: Admission): Admission => ({
  admitKey: admission.admitKey,
  spendKey: admission.spendKey,
  admit: (request) => {
    const { models = null } = request.caller
    if (models !== null && !models.has(request.model))
      throw new ServiceError('insufficient_scope', {
        param: 'model',
        message: `The credential does not reach the model ${request.model}. Name one that it does.`,
      })
    return admission.admit(request)
  },
})
