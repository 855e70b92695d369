import { type Shards, shardsOf } from '#runtime/recovery/shard.ts'
import type { LeaseTable } from '#storage/cluster-ports.ts'

/** The shards of the store of a lease table: there is a lease for each that was ever held. */
export const shardsIn = (table: Pick<LeaseTable, 'leases'> | null): Shards =>
  shardsOf((table?.leases.length ?? 0) > shardsOf({}).count ? { shards: 1024 } : {})
