import { type ProviderSpec, providers } from '#specs/data/providers.ts'
import { priceAt, prices } from '../prices/prices.ts'

/** A provider that offers the requested model, and the model's name there. */
export interface Seller {
  /** Id of `specs/data/providers.ts`. */
  readonly provider: string
  readonly model: string
}

const specs: ReadonlyMap<string, ProviderSpec> = new Map(
  providers.flatMap((spec) => [spec.id, ...(spec.aliases ?? [])].map((word) => [word, spec] as const)),
)

/** Returns the provider with this id or alias, ignoring case. */
export const providerNamed = (word: string): ProviderSpec | undefined => specs.get(word.toLowerCase())

/** Splits `head/rest` at the first slash, since model ids may also contain slashes; null when either side is empty. */
export const splitName = (requestedModel: string): { readonly head: string; readonly rest: string } | null => {
  const slash = requestedModel.indexOf('/')
  return slash < 1 || slash === requestedModel.length - 1
    ? null
    : { head: requestedModel.slice(0, slash), rest: requestedModel.slice(slash + 1) }
}

/**
 * Returns the providers that offer a model, in the order in which to call them. The provider named before the slash
 * comes first. Then follow the providers that list the whole name in the price list or, when none lists it (as for a
 * new model), the provider whose ids have its form. A whole name that is listed takes precedence over a named provider
 * that does not list the rest: `openai/gpt-oss-120b` is a model of Groq, not of OpenAI.
 */
export const sellersOf = (requestedModel: string): readonly Seller[] => {
  const split = splitName(requestedModel)
  const named = split === null ? undefined : providerNamed(split.head)
  const sellers = ownersOf(requestedModel).map((provider): Seller => ({ provider, model: requestedModel }))
  if (split === null || named === undefined) return sellers
  const seller = { provider: named.id, model: split.rest }
  const both = priceAt(named.id, split.rest) === undefined ? [...sellers, seller] : [seller, ...sellers]
  return both.filter(({ provider }, at) => both.findIndex((each) => each.provider === provider) === at)
}

const ownersOf = (model: string): readonly string[] => {
  const listed = providers.filter(({ id, byName }) => byName !== true && prices.byProvider.get(id)?.has(model))
  if (listed.length > 0) return listed.map(({ id }) => id)
  const shaped = model.includes('/') ? undefined : providers.find(({ ids }) => ids?.test(model))
  return shaped === undefined ? [] : [shaped.id]
}
