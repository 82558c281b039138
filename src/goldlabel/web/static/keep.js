// What must not be lost is kept on this device: in IndexedDB, or in localStorage where a browser gives no IndexedDB,
// or, where it gives neither, in this window alone, and then the page says so (`lasting` is false).

const STORE = "kept";

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

class IndexedKeep {
  lasting = true;

  constructor(database) {
    this.database = database;
  }

  static async open(name) {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return new IndexedKeep(await settled(request));
  }

  // Resolves when the change is written, not when it is queued.
  #change(run) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(STORE, "readwrite");
      transaction.oncomplete = () => resolve();
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
      run(transaction.objectStore(STORE));
    });
  }

  put(key, value) {
    return this.#change((store) => store.put(value, key));
  }

  remove(key) {
    return this.#change((store) => store.delete(key));
  }

  get(key) {
    return settled(this.database.transaction(STORE).objectStore(STORE).get(key));
  }

  async keys(prefix) {
    const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
    return settled(this.database.transaction(STORE).objectStore(STORE).getAllKeys(range));
  }
}

// `storage` is localStorage, or an object like it.
class TextKeep {
  constructor(name, storage, lasting) {
    this.prefix = `${name}/`;
    this.storage = storage;
    this.lasting = lasting;
  }

  static open(name) {
    try {
      localStorage.setItem(name, "");
      localStorage.removeItem(name);
      return new TextKeep(name, localStorage, true);
    } catch {
      return new TextKeep(name, memory(), false);
    }
  }

  async put(key, value) {
    this.storage.setItem(this.prefix + key, JSON.stringify(value));
  }

  async remove(key) {
    this.storage.removeItem(this.prefix + key);
  }

  async get(key) {
    return JSON.parse(this.storage.getItem(this.prefix + key)) ?? undefined;
  }

  async keys(prefix) {
    const start = this.prefix + prefix;
    const held = Array.from({ length: this.storage.length }, (_, place) => this.storage.key(place));
    const found = held.filter((key) => key.startsWith(start));
    return found.map((key) => key.slice(this.prefix.length)).sort();
  }
}

function memory() {
  const held = new Map();
  return {
    get length() {
      return held.size;
    },
    key: (place) => [...held.keys()][place],
    getItem: (key) => held.get(key) ?? null,
    setItem: (key, value) => held.set(key, value),
    removeItem: (key) => held.delete(key),
  };
}

// All kinds: put(key, value), remove(key), get(key) and keys(prefix) in the order of the alphabet.
export async function openKeep(name) {
  try {
    return await IndexedKeep.open(name);
  } catch {
    return TextKeep.open(name);
  }
}
