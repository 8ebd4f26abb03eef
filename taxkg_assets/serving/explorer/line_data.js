// A numbered field with everything that the library states about it: its revisions, and the text for each reader.
import { getDocuments, getJson } from "./api.js";

// The key of a field as the API reads it: its part counts where keys start again in each part.
export const keyWords = ({ part, key }) => `${part ? `Part ${part} ` : ""}${key}`;

// Rows of an address that may name nothing: a field can be too unusual for the look-up.
const getRows = async (path, signal) => {
  try {
    return await getJson(path, signal);
  } catch (error) {
    if (error.status === 404 || error.status === 422) return [];
    throw error;
  }
};

const lookUp = async (name, form, own, signal) => {
  const rows = await getRows(`v1/${name}?${new URLSearchParams({ form, key: keyWords(own) })}`, signal);
  return rows.length || !own.part ? rows : getRows(`v1/${name}?${new URLSearchParams({ form, key: own.key })}`, signal);
};

const READERS = ["filer", "recipient"];

// Text for each reader: of the document of the same revision, else of the last one before, else of the first one after.
const chooseTexts = (passages, revision, known) => {
  const chosen = {};
  for (const reader of READERS) {
    const mine = passages.filter(own => own.perspective === reader);
    const names = [...new Set(mine.map(own => own.document_id))];
    const revisionOf = name => known.get(name)?.revision ?? "";
    const ranked = names.sort((one, other) => revisionOf(other).localeCompare(revisionOf(one)));
    const document = ranked.find(name => revisionOf(name) <= revision) ?? ranked.at(-1);
    if (document) chosen[reader] = { document, passages: mine.filter(own => own.document_id === document) };
  }
  return chosen;
};

// Headings of instructions that explain a line, as the text for the filer: those of the line's own revision come first.
const explained = row => {
  const texts = row.explanations?.filter(own => own.passages.length && own.perspective !== "recipient") ?? [];
  const [first] = texts;
  if (!first) return null;
  const same = texts.filter(own => own.document_id === first.document_id);
  return {
    document: first.document_id,
    passages: same.flatMap(own => own.passages.map(passage => ({ ...passage, bboxes: [{ ...own.bbox, page: own.page }] }))),
  };
};

export const textOf = side => (side?.passages ?? []).map(own => own.text).join("\n");

// The revisions of a field, newest first, each with the texts for filers and recipients.
export const readRevisions = async (form, own, signal) => {
  const isBox = own.key.startsWith("box_");
  const [lines, boxes, known] = await Promise.all([
    lookUp("lines", form, own, signal), isBox ? lookUp("boxes", form, own, signal) : [], getDocuments(),
  ]);
  const byDocument = new Map(boxes.map(row => [row.document_id, row]));
  const isMine = row => !own.part || row.part === own.part;
  // A number is also found as lettered fields of other revisions, which are not the field itself.
  const printed = lines.filter(row => row.key === own.key && row.document_id);
  const textsOf = row => {
    const texts = chooseTexts(byDocument.get(row.document_id)?.passages ?? [], row.revision, known);
    const filer = texts.filer ?? explained(row);
    return filer ? { ...texts, filer } : texts;
  };
  return (printed.length ? printed : lines).filter(isMine).map(row => ({
    ...row,
    isDraft: known.get(row.document_id)?.is_draft ?? false,
    texts: textsOf(row),
    aliases: byDocument.get(row.document_id)?.aliases ?? [],
  }));
};
