import { type JsonObject, projectScope, type RecordStore, type Scope } from '#storage/index.ts'
import { type Page, type PageQuery, pageOf } from '../records/pages.ts'
import type { Row } from '../records/schema.ts'
import { newestOf } from '../records/semver.ts'
import { Table } from '../records/table.ts'
import type { Sink } from '../runtime/internal.ts'
import {
  type AgentData,
  agentCatalogue,
  agents,
  type CatalogueData,
  type Listing,
  type Visibility,
  visibilityOf,
} from './kinds.ts'

/**
 * Which agents a list of the catalogue includes: one visibility, or by default all that any caller in the project may
 * find.
 */
export type Shown = 'default' | 'public' | 'unlisted' | 'private'

/** The version with which the catalogue shows an agent. */
export interface Offer extends Listing {
  readonly agentId: string
  readonly version: string
}

const visibilities: Readonly<Record<Shown, readonly Visibility[]>> = {
  default: ['public', 'unlisted'],
  public: ['public'],
  unlisted: ['unlisted'],
  private: ['private'],
}

/**
 * The versions of each agent that can be installed. There is one row per agent, written by messages of its versions, so
 * a crash loses nothing, and a list reads only the rows that it returns.
 */
export class Catalogue {
  readonly #table: Table<CatalogueData>
  readonly #agents: Table<AgentData>

  constructor({ records, now }: { readonly records: RecordStore; readonly now: () => number }) {
    this.#table = new Table(records, agentCatalogue, now)
    this.#agents = new Table(records, agents, now)
  }

  /** Receives messages of versions that are published, deprecated or retired, and of agents whose visibility has changed. */
  readonly sink: Sink = async ({ project }, { event }) => {
    if (event.type === 'agent_visibility') return this.#relist(project, String(event.agent_id))
    const listing = listingOf(event)
    if (listing !== null) await this.#take(project, listing)
  }

  /** Returns the newest published version of an agent, of any visibility; null when there is none. */
  async newest(scope: Scope, agentId: string): Promise<Offer | null> {
    const row = await this.#table.get(projectScope(scope.project), agentId)
    return row === null ? null : offerOf(row, ['public', 'unlisted', 'private'])
  }

  /** Returns one page of agents, each with the newest version that the list includes. */
  list(scope: Scope, query: PageQuery, shown: Shown): Promise<Page<Offer | null>> {
    return pageOf(this.#table, projectScope(scope.project), {
      query: { ...query, where: { [`in_${shown}`]: 'yes' } },
      shown: { idPrefix: 'agt', view: (row) => offerOf(row, visibilities[shown]) },
    })
  }

  /** Removes a deleted agent from the catalogue. */
  async forget(scope: Scope, agentId: string): Promise<void> {
    await this.#table.remove(scope, agentId)
  }

  /** Applies the agent's current visibility, so that repeated and late messages have no other effect. */
  async #relist(project: string, agentId: string): Promise<void> {
    const scope = projectScope(project)
    const agent = await this.#agents.get(scope, agentId)
    if (agent === null) return
    await this.#table.change(scope, agentId, { edit: ({ data }) => withFlags(data.versions, visibilityOf(agent.data)) })
  }

  /** Applies a version's message. A message that arrives after its agent was deleted is ignored. */
  async #take(project: string, { agentId, version, ...listing }: Offer): Promise<void> {
    const scope = projectScope(project)
    const agent = await this.#agents.get(scope, agentId)
    if (agent === null) return
    const own = visibilityOf(agent.data)
    const fresh = { id: agentId, project, data: withFlags({ [version]: listing }, own) }
    if ((await this.#table.insert(fresh)) !== null) return
    await this.#table.change(scope, agentId, {
      edit: ({ data }) => {
        const known = data.versions[version]
        if (known !== undefined && known.listings >= listing.listings) return null
        return withFlags({ ...data.versions, [version]: listing }, own)
      },
    })
  }
}

/** Visibilities, strictest first. */
const strictness: readonly Visibility[] = ['private', 'unlisted', 'public']

/** The stricter of two visibilities. */
const stricter = (one: Visibility, other: Visibility): Visibility =>
  strictness.find((each) => each === one || each === other) ?? 'private'

const withFlags = (versions: CatalogueData['versions'], own: Visibility): CatalogueData => {
  const listed = Object.values(versions)
    .filter((version) => version.listed)
    .map(({ visibility }) => stricter(visibility, own))
  const flag = (shown: Shown) => (listed.some((one) => visibilities[shown].includes(one)) ? 'yes' : null)
  return {
    versions,
    agent_visibility: own,
    in_default: flag('default'),
    in_public: flag('public'),
    in_unlisted: flag('unlisted'),
    in_private: flag('private'),
  }
}

const offerOf = ({ id, data }: Row<CatalogueData>, among: readonly Visibility[]): Offer | null => {
  const { agent_visibility: own = 'public' } = data
  const shown = (listing: Listing): Listing => ({ ...listing, visibility: stricter(listing.visibility, own) })
  const offered = Object.entries(data.versions).filter(
    ([, each]) => each.listed && among.includes(shown(each).visibility),
  )
  const version = newestOf(offered.map(([name]) => name))
  const listing = version === undefined ? undefined : data.versions[version]
  return version === undefined || listing === undefined ? null : { ...shown(listing), agentId: id, version }
}

/** Parses a version's message; null for any other message. */
const listingOf = (event: JsonObject): Offer | null => {
  const { type, version_id, agent_id, version, visibility, listings, published_at } = event
  if (typeof agent_id !== 'string' || typeof version !== 'string' || typeof version_id !== 'string') return null
  const known = visibilities.default.concat('private').find((each) => each === visibility)
  if (known === undefined || typeof listings !== 'number') return null
  return {
    agentId: agent_id,
    version,
    version_id,
    visibility: known,
    listings,
    published_at: typeof published_at === 'number' ? published_at : 0,
    listed: type === 'list',
  }
}
