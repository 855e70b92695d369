/** Why a document is not read although its bytes may be valid. */
export type Refusal =
  | 'too_much_text'
  | 'too_many_pages'
  | 'too_many_cells'
  | 'too_much_unpacked'
  | 'declares_entities'
  | 'password_protected'
  | 'old_office_format'

/** Thrown for a document that is not read for a reason that its owner can do something about. */
export class DocumentRefused extends Error {
  override readonly name = 'DocumentRefused'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal)
    this.refusal = refusal
  }
}
