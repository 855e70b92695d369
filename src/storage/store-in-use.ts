/** Another process runs the actors of this store, or moves a project in or out; `message` is one sentence for the operator. */
export class StoreInUse extends Error {
  override readonly name = 'StoreInUse'
}
