import type { Feature } from './prompts.js';

/*
 * Questions to the assistant of an outdoor shop, and how it works each answer out. `{order}`, `{product}`, `{city}`
 * and `{name}` are filled in per session, so that a conversation stays with its subject.
 */

/** How a question is worked out; each way makes another shape of trace. */
export type Way = 'documents' | 'order' | 'refund' | 'research';

export interface Turn {
  readonly way: Way;
  readonly question: string;
  readonly answer: string;
}

export interface Conversation {
  readonly title: string;
  readonly feature: Feature;
  readonly turns: readonly Turn[];
}

export const CONVERSATIONS: readonly Conversation[] = [
  {
    title: 'Where is my parcel?',
    feature: 'order-desk',
    turns: [
      {
        way: 'order',
        question: 'Hi, my order {order} should have been here on Tuesday. Where is it?',
        answer:
          'Order {order} left our warehouse on Monday and was scanned in {city} last night. The carrier now shows delivery for tomorrow before 18:00. I am sorry for the delay.',
      },
      {
        way: 'order',
        question: 'I will not be home tomorrow. Can it go to a pick-up point?',
        answer:
          'Yes. I have asked the carrier to leave {order} at the pick-up point nearest to your address in {city}; you will get a text message with the opening hours.',
      },
    ],
  },
  {
    title: 'Leaking {product}',
    feature: 'support-chat',
    turns: [
      {
        way: 'documents',
        question:
          'The {product} I bought last autumn lets water through at the seams. Is that covered by the guarantee?',
        answer:
          'Seams are covered for three years if the {product} was washed as the care label says. Please send us two photos of the inside of the seam, and we will repair or replace it.',
      },
      {
        way: 'documents',
        question: 'I washed it with softener once. Is that a problem?',
        answer:
          'One wash with softener harms the coating but not the seam tape. It does not end the guarantee. Rinse it twice without detergent before you send it in.',
      },
      {
        way: 'refund',
        question: 'A replacement takes too long, I leave on Friday. Can I have my money back?',
        answer:
          'I have started a refund for the {product} from order {order}. The amount will be on your card within three working days; the return label is in your mail.',
      },
    ],
  },
  {
    title: 'Which {product} for winter?',
    feature: 'buying-guide',
    turns: [
      {
        way: 'research',
        question:
          'I plan four nights in the hills near {city} in February. Which {product} would you take, up to 300 euros?',
        answer:
          'For nights down to -8 °C, take the Fjell 3: at 1.9 kg it is not the lightest, but its lining held the most warmth in our test. The Aurora Lite saves 400 g and packs smaller, yet gets damp in long rain. The Basecamp is the cheapest and the sturdiest, but bulky. My recommendation: the Fjell 3.',
      },
      {
        way: 'documents',
        question: 'Does the Fjell 3 come in a long version?',
        answer:
          'Yes, the Fjell 3 comes in Regular (up to 180 cm) and Long (up to 200 cm). Long weighs 130 g more and costs 20 euros extra.',
      },
    ],
  },
  {
    title: 'Return of {product}',
    feature: 'order-desk',
    turns: [
      {
        way: 'documents',
        question: 'How long do I have to return the {product}? The tags are still on it.',
        answer:
          'You have 60 days from delivery, and unworn goods with their tags are refunded in full. The return is free from every address in the country.',
      },
      {
        way: 'refund',
        question: 'Good. Then please return it, the order is {order}.',
        answer:
          'Done: the return of the {product} from order {order} is registered, and the label is on its way to your mail. The refund starts when the parcel is scanned.',
      },
    ],
  },
  {
    title: 'Change of address',
    feature: 'order-desk',
    turns: [
      {
        way: 'order',
        question: 'I moved to {city} last week. Can you still change the address of {order}?',
        answer:
          'The parcel has not been packed yet, so yes: {order} now goes to your new address in {city}. The delivery date stays the same.',
      },
    ],
  },
  {
    title: 'Care of {product}',
    feature: 'support-chat',
    turns: [
      {
        way: 'documents',
        question: 'What is the best way to clean the {product} after a muddy tour?',
        answer:
          'Let the mud dry and brush it off, then wash the {product} at 30 °C with a special detergent and no softener. Close all zips first. Dry it flat, away from the radiator.',
      },
      {
        way: 'documents',
        question: 'And how often should I renew the coating?',
        answer:
          'When water no longer forms drops on the surface, usually after eight to ten washes. Spray it on while the fabric is damp and let it dry for a day.',
      },
    ],
  },
  {
    title: 'Gear list for {city}',
    feature: 'buying-guide',
    turns: [
      {
        way: 'research',
        question: 'Can you put together a packing list for a weekend hut tour near {city}? I already own a {product}.',
        answer:
          'With your {product} you lack little: a light sleeping-bag liner, a head torch with spare batteries, a rain cover for the pack, blister plasters and 1.5 l of water per day. Heavier boots only pay off above the snow line. My recommendation: spend the money on the liner and a good pair of socks.',
      },
    ],
  },
  {
    title: 'Double charge',
    feature: 'order-desk',
    turns: [
      {
        way: 'order',
        question: 'My card was charged twice for {order}!',
        answer:
          'I see both entries. The second one is only a reservation: the first payment attempt ran into a time-out at the bank. It expires by itself within two days, nothing was taken twice.',
      },
      {
        way: 'refund',
        question: 'Two days is long. Can you speed that up?',
        answer:
          'I have asked our payment provider to release the reservation for {order} now. Most banks show it within a few hours.',
      },
    ],
  },
];

export const PRODUCTS = [
  'rain jacket',
  'sleeping bag',
  'two-person tent',
  'trekking backpack',
  'softshell jacket',
  'pair of hiking boots',
  'down vest',
  'camping stove',
];
export const CITIES = [
  'Innsbruck',
  'Bergen',
  'Grenoble',
  'Zakopane',
  'Edinburgh',
  'Bolzano',
  'Tromsø',
  'Garmisch',
  'Kraków',
  'Chamonix',
];
export const CUSTOMERS = [
  'amelie.roux',
  'ben.okafor',
  'carla.mendes',
  'dmitri.k',
  'eva.lindqvist',
  'farah.aziz',
  'gustav.h',
  'hana.novakova',
  'ivo.petrov',
  'jun.tanaka',
  'katya.s',
  'liam.obrien',
  'mei.chen',
  'nora.berg',
  'omar.haddad',
  'pia.schmid',
];

/** Help pages that the retriever finds. */
export const DOCUMENTS: readonly { readonly source: string; readonly text: string }[] = [
  {
    source: 'returns.md',
    text: 'Goods can be returned within 60 days of delivery. Unworn goods with tags are refunded in full, worn goods are judged one by one. Returns are free within the country; from abroad the customer pays the postage.',
  },
  {
    source: 'guarantee.md',
    text: 'We guarantee seams, zips and coatings for three years. Wear, burns and damage by wrong washing are not covered. A repair takes ten working days; if it fails twice, the product is replaced.',
  },
  {
    source: 'care/membranes.md',
    text: 'Wash membranes at 30 °C with a special detergent, without softener and with closed zips. Renew the coating when water no longer forms drops, about every eight to ten washes.',
  },
  {
    source: 'care/down.md',
    text: 'Down is washed alone at 30 °C with down detergent and dried with two tennis balls at low heat until no lump is left. Store down loosely, never in its stuff sack.',
  },
  {
    source: 'delivery.md',
    text: 'Parcels leave the warehouse within one working day. The carrier confirms the delivery window on the evening before. Until then a parcel can be sent to a pick-up point.',
  },
  {
    source: 'payment.md',
    text: 'A payment that runs into a time-out leaves a reservation on the card. It expires after two days; nothing is taken. Refunds are on the card within three working days.',
  },
  {
    source: 'catalog/fjell-3.md',
    text: 'Fjell 3: 1.9 kg (Regular, up to 180 cm) or 2.03 kg (Long, up to 200 cm, 20 EUR extra), comfort -8 °C, recycled shell. Price 289 EUR.',
  },
  {
    source: 'catalog/aurora-lite.md',
    text: 'Aurora Lite: 1.5 kg, comfort -5 °C, packs to 24 x 16 cm. The shell takes up water in rain of several hours. Price 299 EUR.',
  },
];
