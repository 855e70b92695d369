import type { Api } from '#test/e2e/api.ts'

/** Ids and chosen texts by the names of parameters and fields. */
export type Ids = Readonly<Record<string, string>>

/** The resources of a tenant so far, with the means to create more. */
export interface Site {
  /** The project's secret key. */
  readonly api: Api
  /** A member's dashboard session on the project. */
  readonly dashboard: Api
  readonly project: string
  /** Included in the texts of all resources of the tenant. */
  readonly mark: string
  /** URL of a server that accepts calls of tools, webhooks and models. */
  readonly hook: string
  /** The tenant's own id by the name of a place. @throws {Error} when missing, with the file that should create it. */
  id(name: string): string
  /** Ids of all resources created for places of this name. */
  all(name: string): readonly string[]
  /** Creates a resource. @returns its id. @throws {Error} when the request is refused. */
  made(path: string, body: object, api?: Api): Promise<string>
}

/** Creates a valid body with the tenant's own ids; another `n` gives another body. */
type Body = (site: Site, n: number) => object | Promise<object>

/**
 * Facts about the operations of one capability that their declarations do not contain: one file per capability in this
 * folder, listed in parts.ts. The rest follows from the declarations: a resource with a prefix is created from a sample
 * of its body, and its id is used at every place of its name.
 */
export interface EstatePart {
  /** Creates ids that no declared create returns: of chosen names, of special ways to create, or only found in lists. */
  readonly make?: (site: Site) => Promise<Ids>
  /** Bodies of operations whose schema does not describe everything required, or whose ids have to belong together. */
  readonly bodies?: Readonly<Record<string, Body>>
  /** Bodies of operations that cannot be done twice: never sent unchanged. */
  readonly once?: Readonly<Record<string, Body>>
  /** Names of ids that exist only after failures or jobs, with their prefix: an id that does not exist replaces them. */
  readonly absent?: Readonly<Record<string, string>>
  /** Names whose value is the same for all tenants: of the organisation or of the product. */
  readonly common?: readonly string[]
  /** Names whose value callers choose, so that two may choose the same. */
  readonly chosen?: readonly string[]
  /** Names that end like an id but refer to no resource in a body or a query. */
  readonly noIds?: readonly string[]
  /** Reading operations whose answer changes by itself or by actions of others. */
  readonly changing?: readonly string[]
  /** Paths of resources that work in the background, to be polled until their status is a final one. */
  readonly atWork?: (site: Site) => readonly string[]
  /** Operations that pass fields on to a model: each field has to have a visible effect. */
  readonly passesOn?: readonly string[]
  /** Tests of fields whose effect no answer shows, by `<operation> <field>`. */
  readonly shownBy?: Readonly<Record<string, string>>
  /** Operations that refuse some requests which their schema allows, with the rule that no schema can express. */
  readonly beyondSchema?: Readonly<Record<string, string>>
}
