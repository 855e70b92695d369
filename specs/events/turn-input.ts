import { array, constant, described, id, integer, object, oneOf, optional, string, union } from '../dsl/schema.ts'

/** What is shown of an image: its bytes are read by models only. */
export const shownImage = {
  image_id: optional(id('img')),
  mime_type: optional(string({ description: 'Media type of the image.' })),
  bytes: optional(integer({ description: 'Size of the image.' })),
  file_id: optional(string({ description: 'File from which the image was copied.' })),
  image_url: optional(string({ description: 'Address of the image, where it was given by one.' })),
  detail: optional(oneOf('auto', 'low', 'high')),
}

/** Input of a turn with its images by reference. */
export const turnInput = described(
  array(
    union(
      [
        object({ type: constant('input_text'), text: string() }, { title: 'TurnInputText', description: 'Text.' }),
        object(
          { type: constant('input_image'), ...shownImage },
          { title: 'TurnInputImage', description: 'An image, by reference.' },
        ),
      ],
      'type',
    ),
  ),
  'Parts of the input, where it is more than text.',
)
