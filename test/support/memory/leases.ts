import type { Lease, LeaseClaim, LeaseStore, LeaseTable, LeaseTerm, Member } from '#storage/cluster-ports.ts'

/** A stored lease, with its end in place of its remaining time. */
interface HeldLease extends Omit<Lease, 'leftMs'> {
  readonly untilMs: number
}

/** Leases in memory, for pure tests: one instance is the store of all processes of a simulation. */
export class MemoryLeases implements LeaseStore {
  readonly #leases = new Map<number, HeldLease>()
  readonly #members = new Map<string, { readonly member: Member; readonly untilMs: number }>()
  readonly #now: () => number

  /** @param now the store's clock in ms since the epoch. */
  constructor(now: () => number) {
    this.#now = now
  }

  async read(): Promise<LeaseTable> {
    const members = [...this.#members.values()].filter(({ untilMs }) => untilMs > this.#now())
    return {
      leases: [...this.#leases.values()].sort((a, b) => a.shard - b.shard).map((lease) => this.#seen(lease)),
      members: members.map(({ member }) => member),
    }
  }

  async acquire(self: Member, claims: readonly LeaseClaim[], term: LeaseTerm): Promise<readonly Lease[]> {
    for (const claim of claims) if (this.#isOpenTo(claim)) this.#take(self, claim, term)
    const claimed = new Set(claims.map(({ shard }) => shard))
    return this.#heldBy(self.process).filter(({ shard }) => claimed.has(shard))
  }

  async renew(self: Member, ms: number): Promise<readonly Lease[]> {
    const untilMs = this.#now() + ms
    for (const [process, { untilMs }] of this.#members) if (untilMs <= this.#now()) this.#members.delete(process)
    this.#members.set(self.process, { member: self, untilMs })
    for (const [shard, lease] of this.#leases) {
      if (lease.holder === self.process) this.#leases.set(shard, { ...lease, untilMs })
    }
    return this.#heldBy(self.process)
  }

  async release(process: string, shards: readonly number[]): Promise<void> {
    for (const shard of shards) {
      const lease = this.#leases.get(shard)
      if (lease?.holder === process) this.#leases.set(shard, { ...lease, holder: null, address: null, untilMs: 0 })
    }
  }

  async leave(process: string): Promise<void> {
    this.#members.delete(process)
    await this.release(process, [...this.#leases.keys()])
  }

  #isOpenTo({ shard, epoch, leftMs }: LeaseClaim): boolean {
    const lease = this.#leases.get(shard)
    if (lease === undefined) return epoch === 0
    return lease.epoch === epoch && lease.untilMs - this.#now() <= leftMs
  }

  #take({ process, address }: Member, { shard, epoch }: LeaseClaim, { floor, ms, level = 0 }: LeaseTerm): void {
    const lease = { shard, holder: process, address, epoch: Math.max(epoch + 1, floor), untilMs: this.#now() + ms }
    this.#leases.set(shard, { ...lease, level: Math.max(level, this.#leases.get(shard)?.level ?? 0) })
  }

  #heldBy(process: string): readonly Lease[] {
    return [...this.#leases.values()].filter(({ holder }) => holder === process).map((lease) => this.#seen(lease))
  }

  #seen({ untilMs, ...lease }: HeldLease): Lease {
    return { ...lease, leftMs: untilMs - this.#now() }
  }
}
