import { usePageTitle } from '../app/shell.js';
import { Empty } from '../kit/parts.js';

export default function Run({ id }: { id: string }) {
  usePageTitle(id);
  return <Empty title="This page is not there yet" />;
}
