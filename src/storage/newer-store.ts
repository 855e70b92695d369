/**
 * Version of the stores' format. It is raised when a release writes data that the previous one cannot use or would
 * damage: the previous release then refuses the store instead of serving part of it.
 */
export const storeVersion = 2

/** Version of a store that has more than 256 shards, of which earlier releases know nothing. */
export const manyShardsVersion = 3

/** The store was written by a newer release; `message` is one sentence for the operator. */
export class NewerStore extends Error {
  override readonly name = 'NewerStore'
}

/**
 * Checks that a store's version is not newer than this release's. Called before anything is written.
 *
 * @param place the file or database, as its operator knows it.
 * @param supported the newest version of a store of this kind.
 * @throws {NewerStore}
 */
export const checkStoreVersion = (place: string, version: number, supported = storeVersion): void => {
  if (version > supported)
    throw new NewerStore(
      `${place} was written by a newer release: its store version is ${version}, and this release supports ${supported}. Nothing was changed. Start the newer release, or restore a backup from before the upgrade.`,
    )
}
