import type { Api } from '#test/e2e/api.ts'

/** Ids and chosen texts, by the names that parameters, queries and bodies have for them. */
export type Ids = Readonly<Record<string, string>>

/** What a tenant has so far, and what makes more of it. */
export interface Site {
  /** The project's secret key. */
  readonly api: Api
  /** A member's dashboard session on the project. */
  readonly dashboard: Api
  readonly project: string
  /** Stands in texts of everything that the tenant has. */
  readonly mark: string
  /** A server that takes calls of tools, webhooks and models. */
  readonly hook: string
  /** The tenant's own id by the name of a place. @throws {Error} when there is none, with the file that should make it. */
  id(name: string): string
  /** Ids of everything that was made for places of this name. */
  all(name: string): readonly string[]
  /** The id of what a request makes. @throws {Error} when it is refused. */
  made(path: string, body: object, api?: Api): Promise<string>
}

/** A body that is taken, with every id the tenant's own; another `n` makes another one. */
export type Body = (site: Site, n: number) => object | Promise<object>

/**
 * What the operations of one capability need beyond their declarations: a file a capability beside this one, in parts.ts.
 * What the declarations say themselves is not repeated: a resource with a prefix is made from a sample of its body, and
 * its id stands at every place of its name.
 */
export interface EstatePart {
  /** Ids that no answer of a declared create gives: of what is chosen, made in a way of its own, or only listed. */
  readonly make?: (site: Site) => Promise<Ids>
  /** Bodies of operations whose schema does not say all that is taken, or whose ids have to belong together. */
  readonly bodies?: Readonly<Record<string, Body>>
  /** Bodies of what cannot be done twice: never sent as they are. */
  readonly once?: Readonly<Record<string, Body>>
  /** Names of ids of what only trouble or work makes, by prefix: an id of nothing stands for them. */
  readonly absent?: Readonly<Record<string, string>>
  /** Names whose value is the same for all: of the organisation or of the product. */
  readonly common?: readonly string[]
  /** Names whose value callers choose, so that two may choose the same. */
  readonly chosen?: readonly string[]
  /** Names that end like an id, and name no resource of ours where a body or a query has them. */
  readonly noIds?: readonly string[]
  /** Reading operations whose answer changes by itself, or by what others do. */
  readonly changing?: readonly string[]
  /** Paths of what goes on by itself for a while: until each has a status that is not at work. */
  readonly atWork?: (site: Site) => readonly string[]
  /** Operations that pass fields on to a model: each field has to be seen to do something. */
  readonly passesOn?: readonly string[]
  /** Fields whose effect no answer shows, as `<operation> <field>`, by the test that shows it. */
  readonly shownBy?: Readonly<Record<string, string>>
  /** Operations that refuse some requests which their schema allows, with what no schema can say. */
  readonly beyondSchema?: Readonly<Record<string, string>>
}
