import { hash } from 'node:crypto'
import type { Lease } from '../cluster-ports.ts'
import { leaseOf, type OwnerView } from './schema.ts'

/**
 * The lease table as this process last read it. The leases of a process need not be read again while its member states
 * what is known of them here: a renewal extends its member and all of its leases to the same time.
 */
export class ReadLeases {
  readonly #leases = new Map<number, Lease>()
  /** What members stated when their leases were read, by process. */
  readonly #stated = new Map<string, string>()

  /** Returns the leases of a process, by shard. */
  of(process: string): readonly Lease[] {
    const held = [...this.#leases.values()].filter(({ holder }) => holder === process)
    return held.sort((a, b) => a.shard - b.shard)
  }

  /** Returns what a process states that has made this many changes. */
  statementOf(process: string, changes: number): string {
    const held = this.of(process).map(({ shard, epoch }) => `${shard}:${epoch}`)
    return `${hash('sha256', held.join(), 'base64url')}.${changes}`
  }

  /** Replaces all leases. */
  reset(members: readonly OwnerView[], documents: readonly OwnerView[]): void {
    this.#leases.clear()
    this.#stated.clear()
    this.#put(documents)
    this.#note(members)
  }

  /** Replaces the leases of these processes, and those of none, by the documents that had or have them. */
  replace(processes: readonly string[], members: readonly OwnerView[], documents: readonly OwnerView[]): void {
    for (const process of processes) for (const { shard } of this.of(process)) this.#leases.delete(shard)
    this.#put(documents)
    this.#note(members.filter(({ member }) => processes.includes(member?.process ?? '')))
  }

  /**
   * Returns the processes whose leases are not known for certain, by the documents of all members. One that has ended and
   * has no lease here may have taken one just before; the claim of another process then shows it.
   */
  outdated(members: readonly OwnerView[]): readonly string[] {
    const stated = new Map(members.map(({ member, held }) => [member?.process, held]))
    const holders = [...this.#leases.values()].flatMap(({ holder }) => holder ?? [])
    const live = members.flatMap(({ member, leftMs }) => (member !== undefined && leftMs > 0 ? [member.process] : []))
    return [...new Set([...live, ...holders])].filter((process) => !this.#isKnown(process, stated.get(process)))
  }

  /** Returns all leases: those of a process that is not among `read` have the time left that its member has. */
  table(members: readonly OwnerView[], read: readonly string[]): readonly Lease[] {
    const leftMs = new Map(members.map((each) => [each.member?.process, each.leftMs]))
    for (const process of read) leftMs.delete(process)
    return [...this.#leases.values()]
      .map((lease) => ({ ...lease, leftMs: leftMs.get(lease.holder ?? undefined) ?? lease.leftMs }))
      .sort((a, b) => a.shard - b.shard)
  }

  #isKnown(process: string, stated: string | undefined): boolean {
    if (stated === undefined || stated !== this.#stated.get(process)) return false
    return stated === this.statementOf(process, Number(stated.split('.')[1]))
  }

  #note(members: readonly OwnerView[]): void {
    for (const { member, held } of members) if (member !== undefined) this.#stated.set(member.process, held ?? '')
  }

  #put(documents: readonly OwnerView[]): void {
    for (const lease of documents.flatMap(leaseOf)) this.#leases.set(lease.shard, lease)
  }
}
