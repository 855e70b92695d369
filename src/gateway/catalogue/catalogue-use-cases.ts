import { orNotFound } from '#actors/call/not-found.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { logoOf } from './logos.ts'
import { PublicCatalogue, type PublicCatalogueParts } from './public-catalogue.ts'

/** Use-cases of the public catalogue. Responses are the same for every caller, so that caches may keep them. */
export const catalogueUseCases = (parts: PublicCatalogueParts): UseCasesOf<'catalogue'> => {
  const catalogue = new PublicCatalogue(parts)
  return {
    'catalogue.models': async ({ query }) => catalogue.models(query),
    'catalogue.providers': async () => catalogue.providers(),
    'catalogue.logo': async ({ params }) => {
      return orNotFound(logoOf(params.id))
    },
  }
}
