/** Sets of synonymous names, normalised by `plainName`. */
const alike: readonly (readonly string[])[] = [
  ['title', 'headline', 'name', 'ogtitle', 'productname', 'articletitle'],
  ['description', 'summary', 'abstract', 'ogdescription'],
  ['author', 'creator', 'byline', 'writtenby', 'articleauthor', 'authorname'],
  [
    'published',
    'publishedat',
    'datepublished',
    'publicationdate',
    'publishdate',
    'articlepublishedtime',
    'dateofpublication',
  ],
  ['modified', 'modifiedat', 'datemodified', 'updated', 'updatedat', 'lastupdated', 'articlemodifiedtime'],
  ['price', 'lowprice', 'offersprice', 'productpriceamount', 'ogpriceamount', 'amount'],
  ['currency', 'pricecurrency', 'offerspricecurrency', 'productpricecurrency', 'ogpricecurrency'],
  ['image', 'imageurl', 'picture', 'ogimage', 'thumbnailurl'],
  ['url', 'link', 'canonicalurl', 'ogurl', 'website'],
  ['site', 'sitename', 'ogsitename', 'publisher', 'publishername'],
  ['keywords', 'tags', 'newskeywords'],
  ['rating', 'ratingvalue', 'aggregateratingratingvalue', 'stars'],
  ['reviews', 'reviewcount', 'ratingcount', 'aggregateratingreviewcount', 'numberofreviews'],
  ['brand', 'brandname', 'manufacturer', 'manufacturername'],
  ['sku', 'productid', 'articlenumber', 'itemnumber'],
  ['availability', 'instock', 'offersavailability'],
  ['phone', 'telephone', 'phonenumber', 'tel'],
  ['email', 'emailaddress', 'mail'],
  ['date', 'startdate', 'when'],
  ['location', 'place', 'venue', 'locationname', 'where'],
  ['language', 'inlanguage', 'oglocale'],
]

/** Normalises a name: `publishedAt`, `published_at` and `Published at:` are equal. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

/** Returns the names to search for, best first: the property's own, its title, and synonyms. */
export const namesFor = (property: string, title: string | null): readonly string[] => {
  const own = [...new Set([property, ...(title === null ? [] : [title])].map(plainName))].filter(Boolean)
  return [...new Set([...own, ...alike.filter((set) => own.some((name) => set.includes(name))).flat()])]
}
