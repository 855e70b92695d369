import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { logoOf } from './logos.ts'
import { PublicCatalogue, type PublicCatalogueParts } from './public-catalogue.ts'

/** Use-cases of the public catalogue. Responses are the same for every caller, so that caches may keep them. */
export const catalogueUseCases = (parts: PublicCatalogueParts): UseCasesOf<'catalogue'> => {
  const catalogue = new PublicCatalogue(parts)
  return {
    'catalogue.models': async ({ query }) => catalogue.models(query),
    'catalogue.providers': async () => catalogue.providers(),
    'catalogue.logo': async ({ params }) => {
      const logo = logoOf(params.id)
      if (logo === null) throw new ServiceError('not_found')
      return logo
    },
  }
}
