/** The owner of a request. */
export interface LineOwner {
  readonly project: string
  readonly tenant: string | null
}

/** Maximum number of projects whose last tenant is remembered. */
const maxRemembered = 1_000

/**
 * A line of waiting items whose owners take turns: projects, and within a project its tenants. An owner is not served
 * twice in a row while another one waits.
 */
export class FairLine<T> {
  /** Waiting items by project and tenant; those that are to be served next come first. */
  readonly #projects = new Map<string, Map<string | null, T[]>>()
  #size = 0
  #lastProject: string | undefined
  /** The tenant of each recent project that was served last. */
  readonly #lastTenants = new Map<string, string | null>()

  /** Number of waiting items. */
  get size(): number {
    return this.#size
  }

  /** Number of waiting items of an owner. */
  sizeOf({ project, tenant }: LineOwner): number {
    return this.#projects.get(project)?.get(tenant)?.length ?? 0
  }

  add({ project, tenant }: LineOwner, item: T): void {
    const tenants = this.#projects.get(project) ?? new Map<string | null, T[]>()
    const items = tenants.get(tenant) ?? []
    this.#projects.set(project, tenants.set(tenant, items))
    items.push(item)
    this.#size += 1
  }

  /** Removes and returns the next item of the owners that may be served; undefined when there is none. */
  take(mayServe: (owner: LineOwner) => boolean = () => true): T | undefined {
    const found = this.#next(mayServe)
    if (found === undefined) return undefined
    const { owner, tenants, items } = found
    const item = items.shift()
    this.#size -= 1
    this.#note(owner)
    toEnd(tenants, owner.tenant, items.length > 0 ? items : undefined)
    toEnd(this.#projects, owner.project, tenants.size > 0 ? tenants : undefined)
    return item
  }

  /** Removes an item that no longer waits. */
  remove({ project, tenant }: LineOwner, item: T): void {
    const tenants = this.#projects.get(project)
    const items = tenants?.get(tenant)
    const at = items?.indexOf(item) ?? -1
    if (tenants === undefined || items === undefined || at < 0) return
    items.splice(at, 1)
    this.#size -= 1
    if (items.length === 0) tenants.delete(tenant)
    if (tenants.size === 0) this.#projects.delete(project)
  }

  #note({ project, tenant }: LineOwner): void {
    this.#lastProject = project
    toEnd(this.#lastTenants, project, tenant)
    const [oldest] = this.#lastTenants.keys()
    if (this.#lastTenants.size > maxRemembered && oldest !== undefined) this.#lastTenants.delete(oldest)
  }

  #next(mayServe: (owner: LineOwner) => boolean) {
    for (const [project, tenants] of lastAtEnd(this.#projects, this.#lastProject)) {
      for (const [tenant, items] of lastAtEnd(tenants, this.#lastTenants.get(project))) {
        const owner = { project, tenant }
        if (mayServe(owner)) return { owner, tenants, items }
      }
    }
    return undefined
  }
}

/** Yields the entries in order, but that of `last` at the end: it may have come back before others came. */
function* lastAtEnd<K, V>(map: ReadonlyMap<K, V>, last: K | undefined): Generator<readonly [K, V]> {
  for (const entry of map) if (entry[0] !== last) yield entry
  const value = last === undefined ? undefined : map.get(last)
  if (last !== undefined && value !== undefined) yield [last, value]
}

/** Moves an entry to the end; undefined removes it. */
const toEnd = <K, V>(map: Map<K, V>, key: K, value: V | undefined): void => {
  map.delete(key)
  if (value !== undefined) map.set(key, value)
}
