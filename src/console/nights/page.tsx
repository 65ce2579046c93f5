import { usePageTitle } from '../app/shell.js';
import { Empty } from '../kit/parts.js';

export default function Nights(_: { job: string | undefined }) {
  usePageTitle('Nights');
  return <Empty title="This page is not there yet" />;
}
