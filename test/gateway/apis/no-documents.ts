import { ServiceError } from '#specs/errors/errors.ts'

/** Providers that have no operations of their own. */
export const noDocuments = { create: () => Promise.reject(new ServiceError('provider_unavailable')) }
