import { ServiceError } from '#specs/errors/errors.ts'

/** A document service without any provider. */
export const noDocuments = { create: () => Promise.reject(new ServiceError('provider_unavailable')) }
