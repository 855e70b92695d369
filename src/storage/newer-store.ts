/**
 * Version of how the stores are written. It is raised when a release writes what the one before cannot use or would harm: that one then
 * refuses the store, instead of serving half of what is in it.
 */
export const storeVersion = 1

/** The store was written by a newer release; `message` is one sentence for the operator. */
export class NewerStore extends Error {
  override readonly name = 'NewerStore'
}

/**
 * Holds a store's version to the one of this release. Called before anything is written.
 *
 * @param place the file, or the database, as its operator knows it.
 * @throws {NewerStore}
 */
export const checkStoreVersion = (place: string, version: number): void => {
  if (version > storeVersion)
    throw new NewerStore(
      `${place} was written by a newer release: its store version is ${version}, and this release supports ${storeVersion}. Nothing was changed. Start the newer release, or restore a backup from before the upgrade.`,
    )
}
