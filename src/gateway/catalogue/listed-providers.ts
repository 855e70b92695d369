import { providers } from '#specs/data/providers.ts'

/** A provider of models of a list. */
export interface ListedProvider {
  readonly id: string
  readonly name: string
  /** Null for a provider of the project, which has no logo. */
  readonly logo_url: string | null
}

/** What a row says of its provider. */
interface Provided {
  readonly provider: string
}

const known = new Map(providers.map(({ id, name }) => [id, name]))

/**
 * Returns the providers of rows, each once, in the order of their first rows.
 *
 * @param origin origin under which logos are served; '' for relative paths.
 * @param nameOf the name of a provider that is not in the catalogue. Default: its id.
 */
export const listedProviders = <Row extends Provided>(
  rows: readonly Row[],
  origin: string,
  nameOf: (row: Row) => string = ({ provider }) => provider,
): readonly ListedProvider[] =>
  [...new Map(rows.toReversed().map((row) => [row.provider, row])).values()].toReversed().map((row) => {
    const name = known.get(row.provider)
    return name === undefined
      ? { id: row.provider, name: nameOf(row), logo_url: null }
      : { id: row.provider, name, logo_url: logoUrl(row.provider, origin) }
  })

/** The address of a provider's logo (`catalogue.logo`). */
export const logoUrl = (provider: string, origin: string): string => `${origin}/api/providers/${provider}/logo`
